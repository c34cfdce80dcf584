/** Where packs and their files are read: an R2 bucket, as far as it is needed for that. */
export interface PackReader {
  get(key: string, options?: { readonly range: R2Range }): Promise<R2ObjectBody | null>
}

/** A reader that counts: R2 answers so many requests a Worker request may make, and each has its price. */
export class CountedReader implements PackReader {
  readonly #reader: PackReader
  #reads = 0

  constructor(reader: PackReader) {
    this.#reader = reader
  }

  /** Requests to R2 so far. */
  get reads(): number {
    return this.#reads
  }

  get(key: string, options?: { readonly range: R2Range }): Promise<R2ObjectBody | null> {
    this.#reads++
    return this.#reader.get(key, options)
  }
}
