/** What every page is told of the request and of this edge. */
export interface Site {
  /** As `https://edge.example`. */
  readonly origin: string
  /** Path of the page, as it was asked for. */
  readonly path: string
  /** What stands in the search field. */
  readonly query: string
}
