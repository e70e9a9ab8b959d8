// Streams of gRPC with the implementation in Go, which measures its connections: for the pieces of a stream it sends
// PINGs and small WINDOW_UPDATEs, as client and as server.
//
//	grpc_echo SERVER-PORT GATEWAY-PORT
//
// Serves an echo on the first port, and calls it through a gateway on the second: each message is answered before the
// next, then as many as fit. Ends with 1 if a message is missing. Needs golang-google-grpc-dev (Debian).
package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"google.golang.org/grpc"
)

// Messages are bytes.
type codec struct{}

func (codec) Marshal(message interface{}) ([]byte, error) { return *message.(*[]byte), nil }

func (codec) Unmarshal(data []byte, message interface{}) error {
	*message.(*[]byte) = append([]byte(nil), data...)
	return nil
}

func (codec) Name() string   { return "bytes" }
func (codec) String() string { return "bytes" }

const largest = 16 << 20

func echo(_ interface{}, stream grpc.ServerStream) error {
	for {
		var message []byte
		if err := stream.RecvMsg(&message); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if err := stream.SendMsg(&message); err != nil {
			return err
		}
	}
}

func open(context context.Context, connection *grpc.ClientConn) (grpc.ClientStream, error) {
	both := &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}
	return connection.NewStream(context, both, "/test.Echo/Echo")
}

// The number of messages that returned, one after the other.
func alternate(stream grpc.ClientStream, count, size int) (int, error) {
	for number := 0; number < count; number++ {
		sent := make([]byte, size)
		if err := stream.SendMsg(&sent); err != nil {
			return number, err
		}
		var received []byte
		if err := stream.RecvMsg(&received); err != nil || len(received) != size {
			return number, fmt.Errorf("%d bytes: %v", len(received), err)
		}
	}
	return count, stream.CloseSend()
}

// The number of messages that returned while others were sent.
func flood(stream grpc.ClientStream, count, size int) (int, error) {
	go func() {
		for number := 0; number < count; number++ {
			sent := make([]byte, size)
			if stream.SendMsg(&sent) != nil {
				return
			}
		}
		stream.CloseSend()
	}()
	for number := 0; ; number++ {
		var received []byte
		if err := stream.RecvMsg(&received); err == io.EOF {
			return number, nil
		} else if err != nil {
			return number, err
		}
	}
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Args[1])
	if err != nil {
		panic(err)
	}
	server := grpc.NewServer(
		grpc.CustomCodec(codec{}), grpc.MaxRecvMsgSize(largest), grpc.UnknownServiceHandler(echo))
	go server.Serve(listener)
	connection, err := grpc.Dial("127.0.0.1:"+os.Args[2], grpc.WithInsecure(), grpc.WithDefaultCallOptions(
		grpc.ForceCodec(codec{}), grpc.MaxCallRecvMsgSize(largest)))
	if err != nil {
		panic(err)
	}
	failed := false
	for _, messages := range []struct{ count, size int }{{20000, 1}, {20000, 100}, {200, 100000}, {20, 4 << 20}} {
		for name, run := range map[string]func(grpc.ClientStream, int, int) (int, error){
			"one after the other": alternate, "as many as fit": flood,
		} {
			limited, cancel := context.WithTimeout(context.Background(), time.Minute)
			stream, err := open(limited, connection)
			returned := 0
			if err == nil {
				returned, err = run(stream, messages.count, messages.size)
			}
			cancel()
			if err != nil || returned != messages.count {
				failed = true
				fmt.Printf("%d of %d messages of %d bytes, %s: %v\n", returned, messages.count, messages.size, name, err)
			}
		}
	}
	if failed {
		os.Exit(1)
	}
}
