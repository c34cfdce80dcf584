// Runs before `npm start`, `npm test` and `npm run bench`, under whatever Node the machine has: installs what the lock
// file says where that is missing or stale, and is over in a few milliseconds otherwise. The scripts after it then run
// under the Node of node_modules/.bin, which npm puts first in PATH.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const modules = join(root, 'node_modules')

const reason = whyInstall()
if (reason !== null) install(reason)

/** @returns {string | null} null where what is installed is what the lock file says */
function whyInstall() {
  // npm writes this one last, so after an interrupted install it is absent.
  const installedLock = join(modules, '.package-lock.json')
  if (!existsSync(installedLock)) return 'they are not installed yet'
  if (!existsSync(join(modules, 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node')))
    return 'Node 24 is missing'
  const wanted = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages
  const installed = JSON.parse(readFileSync(installedLock, 'utf8')).packages
  for (const [path, { version, optional }] of Object.entries(wanted)) {
    // An optional package may be for another platform.
    if (path === '' || (optional && !(path in installed))) continue
    if (installed[path]?.version !== version)
      return `package-lock.json asks for ${path.slice(path.lastIndexOf('node_modules/') + 13)} ${version}`
  }
  // One more at the top is in nobody's way; one more inside another package would be found before the right one.
  const nested = Object.keys(installed).filter((path) => path.split('node_modules/').length > 2)
  for (const path of nested) if (!(path in wanted)) return `package-lock.json no longer has ${path}`
  return null
}

function install(reason) {
  console.error(`Installing the dependencies (${reason}). This takes a minute or so.`)
  // Without node_modules/.bin in PATH: npm must not run by the very Node that it is about to replace.
  const path = (process.env.PATH ?? '').split(delimiter).filter((directory) => !directory.includes('node_modules'))
  const { status, error } = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    env: { ...process.env, PATH: path.join(delimiter) },
    // Whatever npm says goes to stderr: stdout belongs to the script that follows.
    stdio: ['ignore', process.stderr, process.stderr],
    shell: process.platform === 'win32',
  })
  if (status === 0) return
  console.error(`The dependencies could not be installed${error ? `: ${error.message}` : ' (see above)'}.`)
  process.exit(status ?? 1)
}
