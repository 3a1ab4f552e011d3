import type { Running } from '../../runtimes/start-in.js'
import { describeHanging, startServed } from './served.js'

let running: Running
beforeAll(async () => {
  running = await startServed('2s')
})
afterAll(() => running?.close())

describeHanging(() => running, [50, 300, 1500])
