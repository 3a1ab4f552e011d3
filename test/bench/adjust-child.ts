import { Redis } from 'ioredis'
import { type AdjustCounts, type AdjustQuestion, busyLimiter } from './busy-limiter.js'
import { answerQuestions } from './harness/child.js'

const [url = ''] = process.argv.slice(2)
const client = new Redis(url, { autoResendUnfulfilledCommands: false })
process.once('disconnect', () => process.exit()) // an open connection would keep it running

const limiter = busyLimiter(client)

/**
 * Sends requests at a steady rate, however long each takes. Each is charged, and then changed three times.
 */
async function send({ requests, everyMs }: AdjustQuestion): Promise<AdjustCounts> {
  const tookMs: number[] = []
  let failed = 0
  async function change(run: () => unknown): Promise<void> {
    const startMs = performance.now()
    try {
      await run()
      tookMs.push(performance.now() - startMs)
    } catch {
      failed++
    }
  }
  async function request(): Promise<void> {
    const decision = await limiter.charge('ada')
    await change(() => limiter.adjust(decision, 4))
    await change(() => limiter.penalize('ada', 2))
    await change(() => limiter.reward('ada', 1))
  }
  const startMs = performance.now()
  const sent: Promise<void>[] = []
  while (sent.length < requests) {
    const due = Math.min(requests, Math.floor((performance.now() - startMs) / everyMs))
    while (sent.length < due) sent.push(request())
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  await Promise.all(sent)
  return { failed, tookMs }
}

answerQuestions(send)
