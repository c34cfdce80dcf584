declare module '*.woff2' {
  const data: ArrayBuffer
  export default data
}
