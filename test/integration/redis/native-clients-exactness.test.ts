import { fork } from 'node:child_process'
import { inRuntimes } from '../../runtimes/fetched.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { glidePath } from './glide.js'
import { describeRedisExactness } from './redis-exactness.js'

let bun: string
let glide: string

beforeAll(async () => {
  bun = await inRuntimes('.bin/bun')
  glide = await glidePath()
}, INSTALL_TIMEOUT_MS)

describe('Bun, Valkey GLIDE and ioredis', () => {
  describeRedisExactness('sample', 3, 100, (program, url, i) => {
    if (i % 3 === 0) return fork(program, [url, 'Bun'], { execPath: bun, execArgv: [] })
    return fork(program, [url, i % 3 === 1 ? glide : 'ioredis 6'])
  })
})
