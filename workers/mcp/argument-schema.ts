import { fromJsonSchema } from '@modelcontextprotocol/server'
import type { Tool } from './tool.ts'

/** What the SDK makes of a tool's arguments: a model is shown it, and each call is checked by it. */
type CallSchema = ReturnType<typeof fromJsonSchema<Record<string, unknown>>>

/** The schema of a tool's arguments. What does not match is told with the names that there are. */
export function argumentSchema({ arguments: properties, required }: Tool): CallSchema {
  const schema = fromJsonSchema<Record<string, unknown>>({
    type: 'object',
    properties,
    required: [...required],
    additionalProperties: false,
  })
  const standard = schema['~standard']
  const names = Object.keys(properties).map((name) => (required.includes(name) ? `${name} (required)` : name))
  return {
    '~standard': {
      ...standard,
      validate: async (given) => {
        const result = await standard.validate(given)
        if (result.issues === undefined) return result
        const told = result.issues.map(({ message }) => sayMismatch(message)).join('; ')
        return { issues: [{ message: `${told} The arguments are: ${names.join(', ')}.` }] }
      },
    },
  }
}

/** Said of what holds a mismatch, beside the mismatch itself. */
const ECHO = /: (Property ".*" does not match schema|Items did not match schema|False boolean schema)\.$/
const UNKNOWN = /Property (".*") does not match additional properties schema\./

/** @param message of the validator: `<JSON pointer>: <sentence>`, several with `; ` between */
export function sayMismatch(message: string): string {
  const all = message.split('; ')
  const mismatches = all.filter((one) => !ECHO.test(one))
  return (mismatches.length === 0 ? all : mismatches).map((one) => one.replace(UNKNOWN, 'there is no $1.')).join('; ')
}
