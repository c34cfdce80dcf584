import { DeployError, type Wrangler } from './wrangler.ts'

/** `wrangler whoami --json`, as far as it is needed. */
interface WhoAmI {
  readonly loggedIn: boolean
  readonly email?: string
  readonly accounts?: readonly { readonly id: string; readonly name: string }[]
}

export const WHO_AM_I = ['whoami', '--json']

/**
 * Whose account the edge will be in, for people. wrangler would ask where there are several, and what runs without a
 * terminal cannot be asked.
 *
 * @param chosen the account's id, from wrangler.toml or CLOUDFLARE_ACCOUNT_ID
 * @throws {@link DeployError} where nobody is signed in, or it is not clear which account is meant
 */
export async function findAccount(wrangler: Wrangler, chosen: string | undefined): Promise<string> {
  const { stdout } = await wrangler.ask(WHO_AM_I)
  const { loggedIn, email, accounts = [] } = parse(stdout)
  if (!loggedIn)
    throw new DeployError(
      'Nobody is signed in to Cloudflare. Run npx wrangler login, or set CLOUDFLARE_API_TOKEN, and deploy again.',
    )
  if (chosen === undefined && accounts.length > 1) {
    const list = accounts.map(({ id, name }) => `  ${id}  ${name}`).join('\n')
    throw new DeployError(
      `There are several Cloudflare accounts. Choose one by CLOUDFLARE_ACCOUNT_ID, or by account_id in wrangler.toml:\n${list}`,
    )
  }
  const account = accounts.find(({ id }) => chosen === undefined || id === chosen)
  return `${account?.name ?? chosen ?? 'an account'}${email === undefined ? '' : `, as ${email}`}`
}

function parse(stdout: string): WhoAmI {
  try {
    return JSON.parse(stdout) as WhoAmI
  } catch {
    throw new DeployError(`wrangler whoami was to print JSON, and printed:\n${stdout}`)
  }
}
