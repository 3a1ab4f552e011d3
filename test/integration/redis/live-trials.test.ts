import { connect } from './connect.js'
import { describeLiveTrials } from './live-trials.js'
import { trialProcess } from './trial-process.js'

beforeAll(() => {
  jest.useFakeTimers({
    doNotFake: [
      ...(['hrtime', 'nextTick', 'performance', 'queueMicrotask', 'setImmediate', 'clearImmediate'] as const),
      ...(['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] as const),
    ],
  })
})
afterAll(() => jest.useRealTimers())

const setTime = (nowMs: number) => void jest.setSystemTime(nowMs)

describeLiveTrials(
  async (url, id) => {
    const client = await connect(url)
    const { close, ...commands } = trialProcess(client, id, setTime)
    return {
      ...commands,
      async kill() {
        client.disconnect()
        await close()
      },
    }
  },
  setTime,
  false,
)
