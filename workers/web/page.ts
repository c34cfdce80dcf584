import type { IRequest } from 'itty-router'
import { percentDecode, percentDecodeText } from '../http/percent.ts'
import type { WebDeps } from './deps.ts'
import { type Form, formOf } from './negotiate.ts'

/** A request for a page, its URL read. */
export interface PageCall {
  readonly request: Request
  readonly url: URL
  readonly deps: WebDeps
  readonly form: Form
  /** Handle or DID, as the URL has it; empty where the page is of none. */
  readonly actor: string
  /** Name, as the URL has it; empty where the page is of none. */
  readonly repository: string
  /** What follows the page's own name in the path, decoded. */
  readonly rest: Uint8Array
}

/** What a page shows, before it has been read. */
export interface PageSource<T> {
  /** All that the page depends on beside its URL: the same again, and the page is the same. */
  readonly key: readonly unknown[]
  /** Whether the URL names all content by full ids, so that the page never changes. */
  readonly immutable: boolean
  /** @throws {@link HttpError} */
  read(): Promise<T>
}

/** Finds what a page shows: asks mirrors and the index, and knows nothing of HTML. */
export type Load<T> = (call: PageCall) => Promise<PageSource<T>>

/** @throws {@link HttpError} 400 for a bad `%` */
export function readCall(request: IRequest, deps: WebDeps): PageCall {
  const { actor = '', repository = '', rest = '' } = request.params as Record<string, string | undefined>
  return {
    request: request as unknown as Request,
    url: new URL(request.url),
    deps,
    form: formOf(request as unknown as Request),
    actor: percentDecodeText(actor),
    // Clone URLs may end so.
    repository: percentDecodeText(repository).replace(/\.git$/, ''),
    rest: percentDecode(rest),
  }
}
