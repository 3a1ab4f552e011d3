import { sendAtOnce } from './at-once.js'
import { describeIsolates } from './isolates.js'
import { Owner } from './owner.js'
import { startIn } from './start-in.js'

const REQUESTS = 1500
const RUNTIMES = ['workerd', 'workerd with nodejs_compat'] as const

for (const runtime of RUNTIMES) describeIsolates(runtime, { hanging: [300, REQUESTS], timeout: '2s' })

test.each(RUNTIMES)('in %s, 1,500 requests at once are limited exactly', async (runtime) => {
  const owner = new Owner()
  const OWNER_URL = await owner.start()
  const running = await startIn(runtime, `${__dirname}/apps/isolates.ts`, {
    env: { OWNER_URL, HANG_TIMEOUT: '2s' },
  })
  try {
    for (const path of ['one', 'several', 'cached'])
      for (const key of [1, 2])
        expect(await sendAtOnce(REQUESTS, `${running.url}/${path}?key=${key}`)).toEqual({
          200: 20,
          429: REQUESTS - 20,
        })
  } finally {
    await running.close()
    owner.stop()
  }
})
