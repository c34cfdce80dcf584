import type { XrpcDeps } from '../../../workers/xrpc/deps.ts'

const absent = () => Promise.reject(new Error('not in this test'))

/** For tests that have nothing to do with the index. */
export const NO_INDEX: Pick<XrpcDeps, 'index'> = {
  index: {
    search: absent,
    pushes: absent,
    repositories: absent,
    repositoriesOf: absent,
    profile: absent,
    findByHandle: absent,
  },
}
