import { type ChildProcess, fork } from 'node:child_process'
import { storeExactness } from 'headgate/testing'

test('a process without an IPC channel is ended, and named in the error', async () => {
  const child = { kill: jest.fn() }
  const setup = {
    startProcess: () => child as unknown as ChildProcess,
    capabilities: { atomicAcrossKeys: true },
  }
  await expect(storeExactness(setup)[0]?.run()).rejects.toThrow(
    'storeExactness: startProcess must be a function that returns a process with an IPC channel, got an object. ' +
      "Use fork('./store-process.js').",
  )
  expect(child.kill).toHaveBeenCalledTimes(1)
})

test.each([
  [{}, /startProcess must be a function, got undefined.*\n.*capabilities must be an object that states/],
  [
    { startProcess: fork, capabilities: { atomicAcrossKeys: 'yes' } },
    /capabilities must be an object that states atomicAcrossKeys/,
  ],
  [
    { startProcess: fork, capabilities: { atomicAcrossKeys: true }, processes: 1 },
    /processes must be a whole number/,
  ],
  [{ startProcess: fork, capabilities: { atomicAcrossKeys: true }, process: 4 }, /unknown|process/],
])('a wrong set-up is an error: %j', (setup, message) => {
  expect(() => storeExactness(setup as never)).toThrow(message)
})
