import type { AddressInfo } from 'node:net'
import { DENIALS, type DenialName } from './contenders/denials.js'
import { answerQuestions } from './harness/child.js'

/** What the parent asks: the port of the server, or the CPU that this process has used. */
export type Question = 'port' | 'cpuNs'

const [name = ''] = process.argv.slice(2)
const server = DENIALS[name as DenialName]().listen(0, '127.0.0.1')
const listening = new Promise<number>((resolve) => {
  server.once('listening', () => resolve((server.address() as AddressInfo).port))
})

answerQuestions((question: Question) => {
  if (question === 'port') return listening
  const { user, system } = process.cpuUsage()
  return (user + system) * 1000
})
process.once('disconnect', () => process.exit())
