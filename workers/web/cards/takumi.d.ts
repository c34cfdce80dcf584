/** What is used of Takumi, which draws pictures of boxes and text. https://takumi.kane.tw/docs */

export interface CardBox {
  readonly type: 'container'
  readonly style?: CardStyle
  readonly children?: readonly CardNode[]
}

export interface CardText {
  readonly type: 'text'
  readonly text: string
  readonly style?: CardStyle
}

export interface CardImage {
  readonly type: 'image'
  /** Names one of the images that are given beside. */
  readonly src: string
  readonly width: number
  readonly height: number
  readonly style?: CardStyle
}

export type CardNode = CardBox | CardText | CardImage
/** As in CSS, its names in camel case. */
export type CardStyle = Readonly<Record<string, string | number>>

export class Renderer {
  registerFont(font: { readonly name: string; readonly data: ArrayBuffer; readonly weight: number }): Promise<void>
  render(
    node: CardNode,
    options: {
      readonly width: number
      readonly height: number
      readonly format: 'png'
      readonly images?: readonly { readonly src: string; readonly data: Uint8Array }[]
    },
  ): Promise<Uint8Array<ArrayBuffer>>
}

export function init(options: { readonly module_or_path: unknown }): Promise<unknown>
export const wasm: unknown
