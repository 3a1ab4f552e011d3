import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { firstMessage } from '../../support/first-message.js'
import { type Bundle, bundle } from '../../support/servers/bundle.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { describeLiveTrials } from './live-trials.js'
import type { TrialCommands } from './trial-process.js'

let program: Bundle
beforeAll(async () => {
  program = await bundle(join(__dirname, 'trial-child.ts'))
}, INSTALL_TIMEOUT_MS)
afterAll(() => program?.remove())

const realNow = Date.now
afterAll(() => {
  Date.now = realNow
})

describeLiveTrials(
  async (url, id, nowMs) => {
    const child = fork(program.path, [url, id, String(nowMs)])
    await firstMessage(child)
    const call =
      <Name extends keyof TrialCommands>(name: Name) =>
      async (...args: Parameters<TrialCommands[Name]>) => {
        const replied = once(child, 'message')
        child.send({ call: name, args })
        const [{ result }] = await replied
        return result
      }
    return {
      setTime: call('setTime'),
      charge: call('charge'),
      tick: call('tick'),
      limits: call('limits'),
      async kill() {
        if (child.exitCode !== null || child.signalCode !== null) return
        const closed = once(child, 'close')
        child.kill('SIGKILL')
        await closed
      },
    }
  },
  (nowMs) => {
    Date.now = () => nowMs // the commands run in this process
  },
  true,
)
