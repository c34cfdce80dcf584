import process from 'node:process'
import { runOperate } from './run-operate.ts'

const { status, stdout, stderr } = await runOperate(process.argv.slice(2), process.env)
process.stdout.write(stdout)
process.stderr.write(stderr)
process.exitCode = status
