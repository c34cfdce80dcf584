/** highlight.js, as much of it as is used. */
declare const hljs: {
  /** @param define is given the library itself */
  registerLanguage(name: string, define: (api: object) => object): void
  getLanguage(name: string): object | undefined
  /** `value` is HTML. A grammar that fails is answered with the text as it stands. */
  highlight(text: string, options: { language: string; ignoreIllegals: boolean }): { readonly value: string }
}

export default hljs
