import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join, resolve } from 'node:path'
import { fetchLocked } from '../../e2e/package/fetched.js'
import { firstMessage } from '../../support/first-message.js'

/** Tests and benchmarks run in the root folder. Benchmarks are modules, which have no `__dirname`. */
const HERE = resolve('test/integration/dynamodb')

/** A server of DynamoDB's protocol. */
export interface Dynalite {
  /** The folder that has the SDK in its node_modules. */
  readonly folder: string
  readonly port: number
  stop(): Promise<void>
}

export async function startDynalite(): Promise<Dynalite> {
  const folder = await fetchLocked('dynamodb', join(HERE, 'packages'))
  const child: ChildProcess = fork(join(HERE, 'dynalite-server.cjs'), [folder], {
    execArgv: [],
    silent: true,
  })
  const port = await firstMessage(child)
  return {
    folder,
    port: Number(port),
    async stop() {
      const closed = once(child, 'close')
      child.kill()
      await closed
    },
  }
}
