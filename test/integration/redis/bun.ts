import { fork } from 'node:child_process'
import { join } from 'node:path'
import { ownerStore } from 'headgate/store'
import { inRuntimes } from '../../runtimes/fetched.js'
import { firstMessage } from '../../support/first-message.js'
import { bundle } from '../../support/servers/bundle.js'
import type { Opened } from './drivers.js'

/** Starts a process of Bun, and returns a store that passes operations to the one there. */
export async function openBun(url: string): Promise<Opened> {
  const program = await bundle(join(__dirname, 'bun-store-process.ts'))
  const child = fork(program.path, [url], { execPath: await inRuntimes('.bin/bun'), execArgv: [] })
  await firstMessage(child)
  const waiting = new Map<number, (reply: unknown) => void>()
  child.on('message', ({ id, reply }: { id: number; reply: unknown }) => {
    waiting.get(id)?.(reply)
    waiting.delete(id)
  })
  let sent = 0
  const send = (message: object) =>
    new Promise((resolve) => {
      waiting.set(++sent, resolve)
      child.send({ id: sent, message })
    })
  return {
    makeStore: () => ownerStore({ name: 'bun', send }),
    isReady: () => child.connected,
    async end() {
      child.kill()
      await program.remove()
    },
  }
}
