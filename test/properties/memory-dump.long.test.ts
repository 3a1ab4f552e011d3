import { checkChargesAfterRestore } from './charges-after-restore.js'

test('a restored store of up to 200,000 keys decides a million charges as the one that went on', () => {
  checkChargesAfterRestore(200_000, 100_000, 10)
})
