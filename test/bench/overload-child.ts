import type { AddressInfo } from 'node:net'
import { GUARDED, type GuardedName } from './contenders/guarded-servers.js'
import { LIVE_GUARDS, type LiveGuardName } from './contenders/live-guards.js'
import { answerQuestions } from './harness/child.js'
import { sampler, selfUnder, totalOf } from './harness/profile.js'
import type { CpuUsage } from './harness/server-child.js'

/** The microseconds of a sample. */
export interface Sampled {
  /** In the functions of the guard, and in those that they called. */
  readonly own: number
  /** In all functions. */
  readonly all: number
}

export type OverloadQuestion = 'ports' | 'cpu' | 'startSample' | 'stopSample'

/** The functions of all guards. */
const GUARDS = /dist\/esm\/|contenders\/live-guards/

/** The functions that a guard calls, but that run without one too: the handler, and what writes to a socket. */
const REST =
  /^next .*router\/|guarded-servers|^(setHeader|end) node:_http_outgoing|^Writable\.write |^_write .*streams\//

// Arguments: what serves; how many guards stand in a row before it; and what guards each of the servers.
const [serverName, count, ...guardNames] = process.argv.slice(2) as [GuardedName, string, ...LiveGuardName[]]
const ports = Promise.all(guardNames.map(listen))
const samples = sampler()

function listen(name: LiveGuardName): Promise<number> {
  const server = GUARDED[serverName](Array.from({ length: Number(count) }, () => LIVE_GUARDS[name]()))
  server.keepAliveTimeout = 60_000 // clients wait while others have their turns
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
  })
}

answerQuestions(async (question: OverloadQuestion) => {
  if (question === 'ports') return ports
  if (question === 'cpu') {
    const { user, system } = process.cpuUsage()
    return { userNs: user * 1000, systemNs: system * 1000 } satisfies CpuUsage
  }
  if (question === 'startSample') return samples.startCpu()
  const profile = await samples.cpu()
  const idle = profile.children.find(({ name }) => name === '(idle)')
  const own = Object.values(selfUnder(profile, GUARDS, REST)).reduce((sum, each) => sum + each, 0)
  return { own, all: totalOf(profile) - (idle === undefined ? 0 : totalOf(idle)) } satisfies Sampled
})
process.once('disconnect', () => process.exit())
