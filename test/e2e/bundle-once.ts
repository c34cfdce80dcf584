import { bundleWorker } from '../../dev/worker-bundle.ts'

/** Before the files start side by side: else each of them would build the same bundle. */
export default async function setup(): Promise<void> {
  await bundleWorker()
}
