import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Under whose name a process runs. */
export interface User {
  readonly uid: number
  readonly gid: number
}

/**
 * The user that a server's Debian package made for it, where this process is root's: these servers refuse
 * to be root. `undefined` where anybody else runs the tests, and so the server.
 */
export async function serviceUser(name: string): Promise<User | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const id = async (option: string) => Number((await run('id', [option, name])).stdout)
  return { uid: await id('-u'), gid: await id('-g') }
}
