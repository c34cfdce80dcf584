import type { XrpcDeps } from '../xrpc/deps.ts'

/** What a model is told of one argument, and what is checked before the tool runs: a JSON Schema. */
export interface ArgumentSchema {
  readonly type: 'string' | 'integer' | 'boolean' | 'array' | 'object' | readonly ('string' | 'null')[]
  readonly description?: string
  readonly [keyword: string]: unknown
}

/** A call of a tool, its arguments checked by the tool's schemas. */
export interface ToolCall<A> {
  readonly args: A
  readonly deps: XrpcDeps
  /** Who calls: a request with nothing but the credentials of the one that came. */
  readonly request: Request
}

export interface ToolAnswer {
  /** For the model: each a block of its own, so that a file's text stands alone. */
  readonly text: readonly string[]
  /** The same for programs, where the text is made of few facts. */
  readonly facts?: Record<string, unknown>
}

export interface Tool<A = Record<string, unknown>> {
  readonly name: string
  readonly title: string
  /** For models: what it does, and its limits. */
  readonly description: string
  readonly arguments: Readonly<Record<string, ArgumentSchema>>
  /** Names of the arguments that must be given. */
  readonly required: readonly (keyof A & string)[]
  /** Writes into the account; else it only reads. */
  readonly writes?: boolean
  /** @throws {@link HttpError}, and all that the API's handlers throw */
  run(call: ToolCall<A>): Promise<ToolAnswer>
}

/** A tool among others: its arguments have been checked by its schemas when it runs. */
export function defineTool<A>(tool: Tool<A>): Tool {
  return tool as unknown as Tool
}
