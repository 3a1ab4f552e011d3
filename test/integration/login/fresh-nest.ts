/**
 * Applications of Nest that share a store, each with its own guard, as processes have. In a process of its own:
 * Nest is ESM only. Prints their ports, and ends with its parent.
 */
import 'reflect-metadata'
import { Body, Controller, Module, Post, type Type, UnauthorizedException, UseGuards } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { loginGuard, RateLimitModule } from 'headgate/nest'
import { redisStore } from 'headgate/redis'
import { Redis } from 'ioredis'
import { FRESH_PROCESSES, freshOptions } from './fresh-options.js'

const [, , url = '', path] = process.argv

function loginModule(): Type {
  const store = redisStore(new Redis(url))

  @Controller('login')
  class LoginController {
    @Post()
    @UseGuards(loginGuard(freshOptions(store, 'Nest', path || undefined)))
    login(@Body() body: { password: string }): string {
      if (body.password !== 'right') throw new UnauthorizedException()
      return 'welcome'
    }
  }

  @Module({ imports: [RateLimitModule.forRoot({})], controllers: [LoginController] })
  class LoginModule {}
  return LoginModule
}

const ports: number[] = []
for (let i = 0; i < FRESH_PROCESSES; i++) {
  const app = await NestFactory.create(loginModule(), { logger: ['error'] })
  await app.listen(0, '127.0.0.1')
  ports.push(app.getHttpServer().address().port)
}
process.stdout.write(`${JSON.stringify(ports)}\n`)
process.stdin.on('close', () => process.exit()).resume()
