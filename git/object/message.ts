import { checkText } from './field-error.ts'

/** A message as commits and tags have it. @throws {@link FieldError} */
export function serializeMessage(message: string): string {
  checkText(message, 'the message')
  return message === '' || message.endsWith('\n') ? message : `${message}\n`
}
