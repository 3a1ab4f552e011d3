import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { answerQuestions } from './child.js'
import { sampler, selfUnder } from './profile.js'

/**
 * The questions of the parent: the port of the server; the CPU of this process, in all or by kind; and to
 * sample it until the functions of some files are asked for, which the text names as a regular expression.
 */
export type Question =
  | 'port'
  | 'cpuNs'
  | 'cpu'
  | { readonly start: 'cpu' | 'bytes' }
  | { readonly stop: 'cpu' | 'bytes'; readonly files: string }

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
  const samples = sampler()
  answerQuestions(async (question: Question) => {
    if (question === 'port') return listening
    if (typeof question === 'object') {
      if ('start' in question) return question.start === 'cpu' ? samples.startCpu() : samples.startBytes()
      return selfUnder(await samples[question.stop](), new RegExp(question.files))
    }
    const { user, system } = process.cpuUsage()
    if (question === 'cpuNs') return (user + system) * 1000
    return { userNs: user * 1000, systemNs: system * 1000 } satisfies CpuUsage
  })
  process.once('disconnect', () => process.exit())
}
