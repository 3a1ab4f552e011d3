import { readSnippets } from '../../examples/demo/code.js'
import type { Block } from './docs/pages.js'

export const POLICIES = ['token-bucket', 'sliding-window', 'fixed-window', 'first-request', 'ban']

/** The examples of code that the demo's page shows and copies. */
export const EXAMPLES = [...POLICIES, 'login-guard', 'on-store-error']

/** The examples as blocks of code, each as TypeScript and as JavaScript. */
export async function demoBlocks(): Promise<Block[]> {
  const snippets = await readSnippets()
  return EXAMPLES.flatMap((name) =>
    ['ts', 'js'].map((language, i): Block => {
      const code = snippets[name] ?? ''
      return { page: `demo-${name}`, line: i + 2, language, code, fixtures: [], continues: false }
    }),
  )
}
