import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

/** Prints what two storages hold before and after they are disabled, and after they are used again. */
const PROGRAM = `
  const { AsyncLocalStorage } = require('node:async_hooks')
  const { disableStorages } = require(${JSON.stringify(join(__dirname, 'async-storages.cjs'))})
  const [entered, ran] = [new AsyncLocalStorage(), new AsyncLocalStorage()]
  const held = () => [entered.getStore() ?? null, ran.getStore() ?? null]
  const seen = []
  entered.enterWith('entered')
  const result = ran.run('ran', (...args) => {
    seen.push(held())
    disableStorages()
    seen.push(held())
    return args
  }, 1, 2)
  entered.enterWith('again')
  seen.push(held())
  disableStorages()
  seen.push(held())
  console.log(JSON.stringify({ seen, result }))`

test('every storage that was used is disabled, and can be used again', () => {
  const printed = execFileSync(process.execPath, ['--eval', PROGRAM], { encoding: 'utf8' })
  expect(JSON.parse(printed)).toEqual({
    seen: [
      ['entered', 'ran'],
      [null, null],
      ['again', null],
      [null, null],
    ],
    result: [1, 2],
  })
})
