import { resolve } from 'node:path'
import { commentPagesOf } from './doc-comments.js'
import { blocksOf, pagesOf } from './pages.js'
import { isRun, tryBlocks } from './run-blocks.js'

const ROOT = resolve(__dirname, '../../..')
const blocks = [...pagesOf(ROOT), ...commentPagesOf(ROOT)].flatMap(blocksOf).filter(isRun)

test('every block has sound types, also as most projects are set up, and all tests of blocks pass', async () => {
  const outcomes = await tryBlocks(blocks, 60_000, 'long')
  expect(outcomes.flatMap(({ typeErrors, runErrors }) => [...typeErrors, ...runErrors])).toEqual([])
}, 900_000)
