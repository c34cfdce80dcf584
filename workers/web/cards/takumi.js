// Apart, for its types ask for those of React.
export { default as init, Renderer } from '@takumi-rs/wasm'
export { default as wasm } from '@takumi-rs/wasm/auto'
