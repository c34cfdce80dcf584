import type { XrpcDeps } from './deps.ts'

/** A call of a method, its parameters or input checked by the lexicon. */
export interface XrpcCall<P> {
  readonly request: Request
  readonly params: P
  readonly deps: XrpcDeps
}
