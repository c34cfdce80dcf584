// Not TypeScript: the package's own types bring those of a browser with them, which are at odds with the Workers'.
export { default } from 'highlight.js/lib/core'
