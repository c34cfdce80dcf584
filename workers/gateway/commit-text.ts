import type { Author } from '../../durable-objects/branch-queue/answers.ts'
import { FieldError } from '../../git/object/field-error.ts'
import { serializeMessage } from '../../git/object/message.ts'
import { serializeSignature } from '../../git/object/signature.ts'
import { invalidRequest } from '../http/http-error.ts'

/** `dev.skein.gateway.defs#author` */
export interface AuthorInput {
  readonly name?: string
  readonly email?: string
}

/** Whom a commit names. @param usual where the caller does not say. @throws {@link HttpError} 400 */
export function readAuthor(given: AuthorInput | undefined, usual: Author): Author {
  const author = { name: given?.name ?? usual.name, email: given?.email ?? usual.email }
  asInvalidRequest(() => serializeSignature({ ...author, time: 0, zone: 0 }, 'author'))
  return author
}

/** A message without the white space behind it, which git takes off too. @throws {@link HttpError} 400 */
export function readMessage(text: string): string {
  const message = text.trimEnd()
  if (message.trim() === '') throw invalidRequest('message must not be empty: say what the commit does')
  asInvalidRequest(() => serializeMessage(message))
  return message
}

function asInvalidRequest(check: () => unknown): void {
  try {
    check()
  } catch (error) {
    if (error instanceof FieldError) throw invalidRequest(error.message)
    throw error
  }
}
