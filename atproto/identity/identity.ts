/** Who an account is and where it lives. */
export interface Identity {
  readonly did: string
  /** Null: the DID document names none, or it does not point back at the DID. */
  readonly handle: string | null
  /** Where `handle` is null: one that the DID document names, and that could not be checked now. It may be the account's. */
  readonly uncheckedHandle?: string
  /** Origin of the PDS, `https://pds.example`. */
  readonly pds: string
}

/** Neither a handle nor a DID of a method that is supported. */
export class InvalidActorError extends Error {
  override name = 'InvalidActorError'
  readonly actor: string

  constructor(actor: string, reason: string) {
    super(`${JSON.stringify(actor)} ${reason}`)
    this.actor = actor
  }
}

/** Every place that could know the actor answered, and none does. */
export class IdentityNotFoundError extends Error {
  override name = 'IdentityNotFoundError'
  readonly actor: string

  constructor(actor: string, reason: string) {
    super(`${actor}: ${reason}`)
    this.actor = actor
  }
}

/** A place that could know the actor gave no usable answer; a later try may succeed. */
export class IdentityUnavailableError extends Error {
  override name = 'IdentityUnavailableError'
  readonly actor: string
  /** The host that did not answer. */
  readonly host: string

  constructor(actor: string, host: string, reason: string, options?: ErrorOptions) {
    super(`${actor} cannot be looked up now: ${host} ${reason}`, options)
    this.actor = actor
    this.host = host
  }
}
