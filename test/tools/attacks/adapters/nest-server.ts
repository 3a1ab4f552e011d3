/**
 * The site of Nest, in a process of its own: Nest is ESM only. Prints its port, and ends with its parent.
 */
import { All, Body, Controller, Get, HttpException, Module, Options, Post, UseGuards } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import { memoryStore } from 'headgate'
import { loginGuard, RateLimitModule } from 'headgate/nest'
import { guardOptions, loginStatus } from './login.js'

function check(body: unknown): string {
  const status = loginStatus(body)
  if (status !== 200) throw new HttpException('wrong', status)
  return 'welcome'
}

@Controller('route')
class RouteController {
  @Post('login')
  @UseGuards(loginGuard(guardOptions('route')))
  login(@Body() body: unknown): string {
    return check(body)
  }
}

@Controller('prefix')
@UseGuards(loginGuard(guardOptions('prefix')))
class PrefixController {
  @Post('login')
  login(@Body() body: unknown): string {
    return check(body)
  }

  @Get('login')
  form(): string {
    return 'the form'
  }

  @Options('login')
  options(): string {
    return 'GET, POST'
  }

  @Post('forgot')
  forgot(): string {
    return 'see your mail'
  }
}

@Controller('all')
class AllController {
  @All('login')
  @UseGuards(loginGuard(guardOptions('all')))
  login(@Body() body: unknown): string {
    return check(body)
  }
}

/** Two guards that share a store, as those of two processes do. */
const ofTwo = { ...guardOptions('two'), store: memoryStore({ clock: () => 0 }) }
const guardOfOther = loginGuard(ofTwo)
const guardOfTwo = loginGuard(ofTwo)

@Controller('other')
class OtherController {
  @Post('login')
  @UseGuards(guardOfOther)
  login(@Body() body: unknown): string {
    return check(body)
  }
}

@Controller('two')
class LoginController {
  @Post('login')
  @UseGuards(guardOfTwo)
  login(@Body() body: unknown): string {
    return check(body)
  }
}

@Controller('two')
class ForgotController {
  @Post('forgot')
  @UseGuards(guardOfTwo)
  forgot(): string {
    return 'see your mail'
  }
}

@Module({
  imports: [RateLimitModule.forRoot({})],
  controllers: [
    RouteController,
    PrefixController,
    AllController,
    OtherController,
    LoginController,
    ForgotController,
  ],
})
class SiteModule {}

const adapter = process.argv[2] === 'fastify' ? [new FastifyAdapter()] : []
const app = await NestFactory.create(SiteModule, ...(adapter as []), { logger: ['error'] })
await app.listen(0, '::1')
process.stdout.write(`${JSON.stringify({ port: app.getHttpServer().address().port })}\n`)
process.stdin.on('close', () => process.exit()).resume()
