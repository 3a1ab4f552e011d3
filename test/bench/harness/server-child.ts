import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { answerQuestions } from './child.js'

/** The questions of the parent: the port of the server, or the CPU of this process, in all or by kind. */
export type Question = 'port' | 'cpuNs' | 'cpu'

/** The CPU that a process has used so far. */
export interface CpuUsage {
  readonly userNs: number
  readonly systemNs: number
}

/** In the child: serves on a free port of this machine until the parent is done. */
export function serveForParent(server: Server): void {
  server.listen(0, '127.0.0.1')
  const listening = new Promise<number>((resolve) => {
    server.once('listening', () => resolve((server.address() as AddressInfo).port))
  })
  answerQuestions((question: Question) => {
    if (question === 'port') return listening
    const { user, system } = process.cpuUsage()
    if (question === 'cpuNs') return (user + system) * 1000
    return { userNs: user * 1000, systemNs: system * 1000 } satisfies CpuUsage
  })
  process.once('disconnect', () => process.exit())
}
