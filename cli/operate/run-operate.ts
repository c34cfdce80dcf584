import { parseArgs } from 'node:util'
import { CallError, edgeCaller } from './call-edge.ts'
import { COMMANDS, UsageError } from './commands.ts'

const USAGE = `npm run operate -- COMMAND [arguments] --edge URL [--json]

What the operator of an edge may do. The edge's OPERATOR_TOKEN is read from the environment: SKEIN_OPERATOR_TOKEN.

${Object.entries(COMMANDS)
  .map(([name, { synopsis, about }]) => `  ${`${name} ${synopsis}`.trimEnd()}\n      ${about}\n`)
  .join('')}
A SUBJECT is an account (handle or DID), or a repository: <handle or DID>/<name>, or at://<DID>/dev.skein.repo/<key>.

  --edge URL    the edge, https://edge.example (or SKEIN_EDGE in the environment)
  --json        print what the edge answers, as one line of JSON
  --help        print this

It ends with 0 if it is done, with 1 if the edge refuses or cannot be reached, and with 2 if it was called wrongly.
`

const DONE = 0
const FAILED = 1
const CALLED_WRONGLY = 2

/** What the command says, and what it ends with. */
export interface Outcome {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

/** @param args after the command's own name. @param environment where the edge and its token may stand */
export async function runOperate(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Outcome> {
  try {
    return { status: DONE, stdout: await answerTo(args, environment), stderr: '' }
  } catch (error) {
    if (error instanceof UsageError) {
      return { status: CALLED_WRONGLY, stdout: '', stderr: `${error.message}\n\n${USAGE}` }
    }
    if (error instanceof CallError) return { status: FAILED, stdout: '', stderr: `${error.message}\n` }
    throw error
  }
}

/** @throws {@link UsageError}, {@link CallError} */
async function answerTo(
  args: readonly string[],
  { SKEIN_EDGE, SKEIN_OPERATOR_TOKEN: token }: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  const { values, positionals } = readArguments(args)
  const { edge = SKEIN_EDGE, json, help, ...options } = values
  if (help) return USAGE
  const [name, ...rest] = positionals
  const command = name !== undefined && Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (command === undefined) {
    throw new UsageError(name === undefined ? 'which command?' : `there is no command ${JSON.stringify(name)}`)
  }
  const foreign = Object.keys(options).find((option) => !command.options.includes(option))
  if (foreign !== undefined) throw new UsageError(`${name} takes no --${foreign}`)
  if (edge === undefined || !URL.canParse(edge)) throw new UsageError('which edge? Give --edge URL')
  if (!token) throw new UsageError('SKEIN_OPERATOR_TOKEN is not set')
  const answer = await command.run(edgeCaller(edge, token), { positionals: rest, options })
  const lines = json ? [JSON.stringify(answer)] : command.show(answer)
  return `${lines.join('\n')}\n`
}

/** @throws {@link UsageError} */
function readArguments(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        edge: { type: 'string' },
        json: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
        reason: { type: 'string' },
        'keep-bytes': { type: 'boolean' },
        relay: { type: 'boolean' },
      },
    })
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}
