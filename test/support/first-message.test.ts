import { spawn } from 'node:child_process'
import { firstMessage } from './first-message.js'

const start = (code: string) =>
  spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })

test('the first message of a program', async () => {
  const child = start('console.error("noise"); process.send({ port: 5 }); process.send("second")')
  expect(await firstMessage(child)).toEqual({ port: 5 })
  child.disconnect()
})

test.each([
  ['throws', 'throw new RangeError("no such file")', /ended with 1 before .*RangeError: no such file/s],
  ['ends', 'process.exit(3)', /^a program ended with 3 before its first message: $/],
  ['is killed', 'process.kill(process.pid, "SIGKILL")', /ended with SIGKILL/],
])('a program that %s before its first message is an error', async (_what, code, message) => {
  await expect(firstMessage(start(code))).rejects.toThrow(message)
})

test('a program that cannot be started is an error', async () => {
  const child = spawn('/no/such/program', [], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
  await expect(firstMessage(child)).rejects.toThrow('ENOENT')
})
