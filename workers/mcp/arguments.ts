import type { ArgumentSchema } from './tool.ts'

/** Arguments that several tools have. Bounds are those of the lexicons. */
export const REPO: ArgumentSchema = {
  type: 'string',
  minLength: 1,
  maxLength: 2048,
  description: 'Repository: `<handle or DID>/<name>`, as `alice.example/app`.',
}

export const REF: ArgumentSchema = {
  type: 'string',
  minLength: 1,
  maxLength: 1024,
  description:
    'Revision: a branch, a tag, or a commit id (whole, or its first 4 digits and more). Default: the default branch.',
}

export const BRANCH: ArgumentSchema = {
  type: 'string',
  minLength: 1,
  maxLength: 1000,
  description: 'Name of the branch, as `main` or `agents/7`.',
}

export const CURSOR: ArgumentSchema = {
  type: 'string',
  minLength: 1,
  maxLength: 16_384,
  description: 'From the answer before, to go on from there. Leave the other arguments as they were.',
}

export const OID: ArgumentSchema = { type: 'string', pattern: '^[0-9a-fA-F]{40}$' }

export const AUTHOR: ArgumentSchema = {
  type: 'object',
  properties: { name: { type: 'string' }, email: { type: 'string' } },
  additionalProperties: false,
  description: 'Whom the commit names. Default: as the token says.',
}

export const IDEMPOTENCY_KEY: ArgumentSchema = {
  type: 'string',
  minLength: 1,
  maxLength: 256,
  description:
    'Any text of your choice. The same call under the same key within 24 hours is done once: safe to repeat.',
}

export const WAIT: ArgumentSchema = {
  type: 'boolean',
  description: 'Wait up to 30 s for the landing. Default true. False: a ticket for get_landing.',
}

/** @param path of what, as in `Path of the file` */
export function pathArgument(description: string): ArgumentSchema {
  return { type: 'string', maxLength: 8192, description }
}

export function limitArgument(what: string, usual: number, most: number): ArgumentSchema {
  return { type: 'integer', minimum: 1, maximum: most, description: `At most so many ${what}. Default ${usual}.` }
}
