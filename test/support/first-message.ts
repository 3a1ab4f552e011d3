import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'

/**
 * Returns the first message that a program sends. If it ends before, rejects with what it has written to its
 * standard error, unless that is the one of the tests.
 */
// biome-ignore lint/suspicious/noExplicitAny: each program has its own messages
export async function firstMessage(child: ChildProcess): Promise<any> {
  let written = ''
  const record = (chunk: unknown) => {
    written += chunk
  }
  child.stderr?.on('data', record)
  const watching = new AbortController()
  const { signal } = watching
  const ended = once(child, 'close', { signal }).then(([code, killedBy]) => {
    throw new Error(`a program ended with ${killedBy ?? code} before its first message: ${written}`)
  })
  try {
    const [message] = (await Promise.race([once(child, 'message', { signal }), ended])) as [unknown]
    return message
  } finally {
    child.stderr?.off('data', record)
    watching.abort()
    ended.catch(() => undefined)
  }
}
