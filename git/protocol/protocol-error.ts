/** The other side broke the protocol. The message is fit to be shown to it. */
export class ProtocolError extends Error {
  override name = 'ProtocolError'
}
