"""Relays connections to another address, with the delay and the bandwidth of a slow link.

    python -m bench.relay LISTEN_HOST LISTEN_PORT TO_HOST TO_PORT [--delay SECONDS] [--rate BYTES_PER_SECOND]

Prints `ready` once it listens, and runs until it is ended. All connections share the rate, separately each way.
"""

import argparse
import asyncio

from importer.experiments.raw.slow_link import BLOCK, SlowLink, relaying


async def serve(arguments: argparse.Namespace) -> None:
    there, back = (SlowLink(arguments.delay, arguments.rate) for _ in range(2))
    relay = relaying(arguments.to_host, arguments.to_port, there, back)
    server = await asyncio.start_server(relay, arguments.host, arguments.port, limit=BLOCK)
    print("ready", flush=True)
    await server.serve_forever()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("host")
    parser.add_argument("port", type=int)
    parser.add_argument("to_host")
    parser.add_argument("to_port", type=int)
    parser.add_argument("--delay", type=float, default=0)
    parser.add_argument("--rate", type=float, default=0)
    asyncio.run(serve(parser.parse_args()))


if __name__ == "__main__":
    main()
