import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { answerQuestions } from './child.js'

/** The parent's questions: the port of the server, or the CPU that this process has used. */
export type Question = 'port' | 'cpuNs'

/** In the child: serves on a free port of this machine until the parent is done. */
export function serveForParent(server: Server): void {
  server.listen(0, '127.0.0.1')
  const listening = new Promise<number>((resolve) => {
    server.once('listening', () => resolve((server.address() as AddressInfo).port))
  })
  answerQuestions((question: Question) => {
    if (question === 'port') return listening
    const { user, system } = process.cpuUsage()
    return (user + system) * 1000
  })
  process.once('disconnect', () => process.exit())
}
