import type { AddressInfo } from 'node:net'
import { GUARDED, type GuardedName } from './contenders/guarded-servers.js'
import { LIVE_GUARDS, type LiveGuardName } from './contenders/live-guards.js'
import { answerQuestions } from './harness/child.js'
import type { CpuUsage } from './harness/server-child.js'

export type OverloadQuestion = 'ports' | 'cpu'

// Arguments: what serves; how many guards stand in a row before it; and what guards each of the servers.
const [serverName, count, ...guardNames] = process.argv.slice(2) as [GuardedName, string, ...LiveGuardName[]]
const ports = Promise.all(guardNames.map(listen))

function listen(name: LiveGuardName): Promise<number> {
  const server = GUARDED[serverName](Array.from({ length: Number(count) }, () => LIVE_GUARDS[name]()))
  server.keepAliveTimeout = 60_000 // clients wait while others have their turns
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
  })
}

answerQuestions(async (question: OverloadQuestion) => {
  if (question === 'ports') return ports
  const { user, system } = process.cpuUsage()
  return { userNs: user * 1000, systemNs: system * 1000 } satisfies CpuUsage
})
process.once('disconnect', () => process.exit())
