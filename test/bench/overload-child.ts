import type { AddressInfo } from 'node:net'
import { GUARDED, type GuardedName, LIVE_GUARDS, type LiveGuardName } from './contenders/live-guards.js'
import { answerQuestions } from './harness/child.js'
import { sampler, selfUnder } from './harness/profile.js'
import type { CpuUsage, Question } from './harness/server-child.js'

// Arguments: what serves, what guards it, and how many of them stand in a row.
const [serverName, guardName, count] = process.argv.slice(2) as [GuardedName, LiveGuardName, string]
const makeServer = GUARDED[serverName]
const middlewareOf = (name: LiveGuardName) => Array.from({ length: Number(count) }, () => LIVE_GUARDS[name]())
const servers = [makeServer(middlewareOf('nothing')), makeServer(middlewareOf(guardName))]
const ports = Promise.all(
  servers.map(
    (server) =>
      new Promise<number>((resolve) => {
        server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
      }),
  ),
)
const samples = sampler()

answerQuestions(async (question: Question | 'ports') => {
  if (question === 'ports') return ports
  if (typeof question === 'object') {
    if ('start' in question) return question.start === 'cpu' ? samples.startCpu() : samples.startBytes()
    return selfUnder(await samples[question.stop](), new RegExp(question.files))
  }
  const { user, system } = process.cpuUsage()
  return { userNs: user * 1000, systemNs: system * 1000 } satisfies CpuUsage
})
process.once('disconnect', () => process.exit())
