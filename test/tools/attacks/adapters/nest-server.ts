/**
 * The site of Nest, in a process of its own: Nest is ESM only. Prints its port, and ends with its parent.
 */
import { Body, Controller, Post, UseGuards } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import { memoryStore } from 'headgate'
import { loginGuard } from 'headgate/nest'
import { guardOptions } from './login.js'
import { checkLogin, nestSiteModule } from './nest-site.js'

/** Two guards that share a store, as those of two processes do. */
const ofTwo = { ...guardOptions('two'), store: memoryStore({ clock: () => 0 }) }
const guardOfOther = loginGuard(ofTwo)

@Controller('other')
class OtherController {
  @Post('login')
  @UseGuards(guardOfOther)
  login(@Body() body: unknown): string {
    return checkLogin(body)
  }
}

const SiteModule = nestSiteModule(
  (mount) => loginGuard(mount === 'two' ? ofTwo : guardOptions(mount)),
  [OtherController],
)

const adapter = process.argv[2] === 'fastify' ? [new FastifyAdapter()] : []
const app = await NestFactory.create(SiteModule, ...(adapter as []), { logger: ['error'] })
await app.listen(0, '::1')
process.stdout.write(`${JSON.stringify({ port: app.getHttpServer().address().port })}\n`)
process.stdin.on('close', () => process.exit()).resume()
