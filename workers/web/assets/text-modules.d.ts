/** Files that are bundled as text: `rules` of wrangler.toml names them. */
declare module '*.css' {
  const text: string
  export default text
}
declare module '*.svg' {
  const text: string
  export default text
}
declare module '*.client.js' {
  const text: string
  export default text
}
