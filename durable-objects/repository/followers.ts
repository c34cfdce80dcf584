import type { IngestNews } from './answers.ts'

/** Those who wait for a mirror to be filled, each at a stream with one line of JSON for each piece of news. */
export class Followers {
  readonly #tells = new Set<(news: IngestNews) => void>()
  readonly #encoder = new TextEncoder()

  /** A stream that ends with the news that says how it ended. */
  follow(): ReadableStream<Uint8Array> {
    let leave = (): void => undefined
    return new ReadableStream({
      type: 'bytes',
      start: (controller) => {
        const tell = (news: IngestNews) => {
          controller.enqueue(this.#encoder.encode(`${JSON.stringify(news)}\n`))
          if ('progress' in news) return
          leave()
          controller.close()
        }
        leave = () => void this.#tells.delete(tell)
        this.#tells.add(tell)
      },
      cancel: () => leave(),
    })
  }

  tell(news: IngestNews): void {
    for (const tell of [...this.#tells]) tell(news)
  }
}
