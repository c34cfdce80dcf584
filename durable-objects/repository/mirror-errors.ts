import type { Refused } from './answers.ts'

/** The account does not have the repository any more. */
export class RepositoryGoneError extends Error {
  override name = 'RepositoryGoneError'

  constructor() {
    super('repository not found: its record is gone from the account')
  }
}

/** Not all of the repository is mirrored, and what is not cannot be had now. */
export class MirrorUnavailableError extends Error {
  override name = 'MirrorUnavailableError'
  /** When a try may succeed, where the account's PDS said so. */
  readonly retryAfterSeconds: number | null

  constructor(message: string, retryAfterSeconds: number | null) {
    super(message)
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** More is to be mirrored than was, by the end of the ingest that was waited for. */
export class StillMirroringError extends Error {
  override name = 'StillMirroringError'

  constructor() {
    super('the repository is still being mirrored; try again')
  }
}

/** The operator of this edge does not have it served, or not by so much. */
export class MirrorRefusedError extends Error {
  override name = 'MirrorRefusedError'
  readonly reason: Refused['reason']

  constructor({ reason, message }: Pick<Refused, 'reason' | 'message'>) {
    super(message)
    this.reason = reason
  }
}
