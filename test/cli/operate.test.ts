import { expect, test } from 'vitest'
import { runOperate } from '../../cli/operate/run-operate.ts'

const OPERATOR_TOKEN = 'an-operators-token-of-some-length'
/** Nobody listens there. */
const NOWHERE = 'http://127.0.0.1:9'

const operate = (edge: string, args: string[], token = OPERATOR_TOKEN) =>
  runOperate(args, { SKEIN_EDGE: edge, SKEIN_OPERATOR_TOKEN: token })

test.each<[string[], string]>([
  [[], 'which command?'],
  [['nonsense'], 'there is no command "nonsense"'],
  [['constructor'], 'there is no command "constructor"'],
  [['block'], 'this takes one subject'],
  [['block', 'a', 'b'], 'this takes one subject'],
  [['block', 'a', '--relay'], 'block takes no --relay'],
  [['unblock', 'a', '--reason', 'x'], 'unblock takes no --reason'],
  [['blocks', '--nonsense'], "'--nonsense'"],
  [['blocks', '--keep-bytes'], 'blocks takes no --keep-bytes'],
  [['reconcile', 'did:plc:a', '--relay'], 'either these accounts'],
  [['reconcile', '--reason', 'x'], 'reconcile takes no --reason'],
  [['reconciling', 'x'], '"x" is not understood'],
  [['dead-letters', 'x'], '"x" is not understood'],
  [['dropped', 'x'], '"x" is not understood'],
  [['replay'], 'which dead letters?'],
  [['replay', 'x'], 'which dead letters?'],
  [['replay', '0'], 'which dead letters?'],
  [['replay', '1', '--relay'], 'replay takes no --relay'],
  [['status', '--relay'], 'status takes no --relay'],
])('npm run operate -- %j is refused in words', async (args, words) => {
  const { status, stdout, stderr } = await operate(NOWHERE, args)
  expect([status, stdout]).toEqual([2, ''])
  expect(stderr.split('\n')[0]).toContain(words)
  expect(stderr).toContain('--edge URL')
})

test('it says what it needs, and where the edge cannot be reached', async () => {
  expect(await operate(NOWHERE, ['blocks'], '')).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('SKEIN_OPERATOR_TOKEN is not set'),
  })
  expect(await operate('edge.test', ['blocks'])).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('which edge?'),
  })
  expect(await operate(NOWHERE, ['blocks'])).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('cannot be reached'),
  })
  const help = await operate(NOWHERE, ['--help'], '')
  expect(help).toMatchObject({ status: 0, stderr: '', stdout: expect.stringContaining(' reconciling\n') })
  expect(help.stdout).not.toContain(OPERATOR_TOKEN)
})
