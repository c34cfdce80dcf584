import type { PageCall, PageSource } from '../page.ts'

/** What an account is needed for, and how one uses it here today. */
export interface SignInData {
  /** Where the page's words lead. */
  readonly guide: string
}

/** `/sign-in` */
export async function loadSignIn(_: PageCall): Promise<PageSource<SignInData>> {
  return { key: ['sign-in'], immutable: false, read: async () => ({ guide: '/llms.txt' }) }
}
